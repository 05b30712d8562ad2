import { expect, test } from 'vitest';
import { FrequentWords, type Mention } from './frequent-words.ts';

function wordsIn(texts: readonly string[]): FrequentWords {
  const words = new FrequentWords();
  for (const text of texts) words.add(text);
  return words;
}
const namesIn = (...texts: string[]): Mention[] => wordsIn(texts).names();

test('counts the tags that most days have', () => {
  const texts = ['Shipped #Billing and #billing', '#billing\n#ops later', '#a #b #c #d #e #f #g #h'];
  expect(wordsIn(texts).tags().slice(0, 2)).toEqual([
    { text: '#billing', days: 2 },
    { text: '#a', days: 1 },
  ]);
  expect(wordsIn(texts).tags()).toHaveLength(8);
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

test('lists the names of most days first, then by the alphabet', () => {
  const names = Array.from('ihgfedcba', (letter, index) => ({ text: `N${letter}`, days: index < 2 ? 4 : 3 }));
  const texts = [0, 1, 2, 3].map((day) =>
    names.flatMap(({ text, days }) => (day < days ? [`met ${text}`, `${text} came`] : [])).join('\n'),
  );
  expect(namesIn(...texts).map(({ text, days }) => `${text} ${days}`)).toEqual([
    'Nh 4',
    'Ni 4',
    'Na 3',
    'Nb 3',
    'Nc 3',
    'Nd 3',
    'Ne 3',
    'Nf 3',
  ]);
});
