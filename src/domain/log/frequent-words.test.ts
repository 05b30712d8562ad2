import { expect, test } from 'vitest';
import { frequentNames, frequentTags, readLogWords, type Mention } from './frequent-words.ts';

const namesIn = (...texts: string[]): Mention[] => frequentNames(texts.map(readLogWords));

test('counts the tags that most days have', () => {
  const texts = ['Shipped #Billing and #billing', '#billing\n#ops later', '#a #b #c #d #e #f #g #h'];
  expect(frequentTags(texts.map(readLogWords)).slice(0, 2)).toEqual([
    { text: '#billing', days: 2 },
    { text: '#a', days: 1 },
  ]);
  expect(frequentTags(texts.map(readLogWords))).toHaveLength(8);
});

test('finds names within sentences, and the same ones at their beginning', () => {
  const texts = [
    'Called Anna Schmidt about the offer. Sent it to Weber',
    'met with Anna Schmidt\nWeber answered',
    'Reviewed the plan with Anna Schmidt, then wrote to Weber',
    'Slept on Monday and wrote nothing',
  ];
  expect(namesIn(...texts)).toEqual([
    { text: 'Anna Schmidt', days: 3 },
    { text: 'Weber', days: 3 },
  ]);
});

test.each([
  ['words that also occur in lower case', 'sent the Offer and the offer'],
  ['weekdays and months', 'met on Monday in March'],
  ['acronyms', 'fixed the API and the CI'],
  ['the first words of lines', 'Shipped it\nTested it'],
  ['tags', 'worked on #Billing all day'],
])('takes %s for no names', (_what, text) => {
  expect(namesIn(text, text, text, text)).toEqual([]);
});

test('finds none in a language that writes all nouns with a capital', () => {
  const text = 'Ich habe die Rechnung an den Kunden geschickt und das Angebot der Firma geprüft';
  expect(namesIn(text, text, text)).toEqual([]);
});

test('needs three days of a name', () => {
  expect(namesIn('called Anna', 'called Anna')).toEqual([]);
});
