/** The Word file as Word reads it: the members of the zip, and the XML in them. */
import fc from 'fast-check';
import { Window, type Element } from 'happy-dom';
import { describe, expect, test } from 'vitest';
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js/lib/zip-core-native.js';
import { day } from '#domain/day/day.ts';
import { sectionsOf, type DocumentLine, type WinsDocument } from '#domain/documents/wins-document.ts';
import { docxFile } from './docx-file.ts';

const win = (date: string, text: string): DocumentLine => ({
  kind: 'win',
  id: text,
  date: day(date),
  text,
  source: '',
});
const heading = (text: string): DocumentLine => ({ kind: 'heading', id: text, text });
const documentOf = (lines: DocumentLine[], other: Partial<WinsDocument> = {}): WinsDocument => ({
  title: 'My year',
  author: 'Ada Smith',
  from: day('2026-01-01'),
  to: day('2026-12-31'),
  lines,
  ...other,
});

/** The texts of the zip's members by their paths. */
async function readMembers(document: WinsDocument, paper: 'a4' | 'letter' = 'a4'): Promise<Map<string, string>> {
  const reader = new ZipReader(new BlobReader(await docxFile(document, paper)), { useWebWorkers: false });
  const members = new Map<string, string>();
  for (const entry of await reader.getEntries()) {
    if (!entry.directory) members.set(entry.filename, await entry.getData(new TextWriter()));
  }
  await reader.close();
  return members;
}

const { DOMParser: XmlParser } = new Window();

/** Throws for XML that is not well-formed. */
function parseXml(xml: string) {
  const parsed = new XmlParser().parseFromString(xml, 'application/xml');
  const [problem] = parsed.getElementsByTagName('parsererror');
  if (problem) throw new Error(`no XML: ${problem.textContent}`);
  return parsed;
}

const valueIn = (element: Element, tag: string): string | null =>
  element.getElementsByTagName(tag)[0]?.getAttribute('w:val') ?? null;

type Read = { style: string | null; text: string; isBullet: boolean; isRightToLeft: boolean };

const readParagraphs = (xml: string): Read[] =>
  [...parseXml(xml).getElementsByTagName('w:p')].map((paragraph) => ({
    style: valueIn(paragraph, 'w:pStyle'),
    text: [...paragraph.getElementsByTagName('w:t')].map(({ textContent }) => textContent).join(''),
    isBullet: paragraph.getElementsByTagName('w:numPr').length > 0,
    isRightToLeft: paragraph.getElementsByTagName('w:bidi').length > 0,
  }));

const readDocument = async (document: WinsDocument): Promise<Read[]> =>
  readParagraphs((await readMembers(document)).get('word/document.xml')!);

describe('the Word file', () => {
  test('has title, facts, headings, and each win as a bullet with its day, in styles of Word', async () => {
    const members = await readMembers(
      documentOf([heading('Q1'), win('2026-02-03', 'Shipped <billing> & more'), win('2026-03-01', 'Closed the audit')]),
    );
    const plain = { isBullet: false, isRightToLeft: false };
    expect(readParagraphs(members.get('word/document.xml')!)).toEqual([
      { style: 'Title', text: 'My year', ...plain },
      { style: 'Facts', text: 'Ada Smith  ·  2026', ...plain },
      { style: 'Heading1', text: 'Q1', ...plain },
      { style: 'Win', text: 'Shipped <billing> & more\u00a0\u00a0Feb\u00a03', ...plain, isBullet: true },
      { style: 'Win', text: 'Closed the audit\u00a0\u00a0Mar\u00a01', ...plain, isBullet: true },
    ]);
    const styles = [...parseXml(members.get('word/styles.xml')!).getElementsByTagName('w:style')];
    expect(styles.map((style) => style.getAttribute('w:styleId'))).toEqual(
      expect.arrayContaining(['Title', 'Facts', 'Heading1', 'Win', 'Day']),
    );
    const properties = parseXml(members.get('docProps/core.xml')!);
    const property = (name: string): string | undefined => properties.getElementsByTagName(name)[0]?.textContent;
    expect([property('dc:title'), property('dc:creator'), property('dc:subject')]).toEqual([
      'My year',
      'Ada Smith',
      'Wins, 2026',
    ]);
  });

  test('has well-formed properties for any characters of the title and the author', async () => {
    const members = await readMembers(documentOf([], { title: 'My\uffff year\ufffe', author: 'A\uffffda' }));
    // happy-dom reads forbidden characters without an error.
    for (const [name, xml] of members) expect([name, /[\ufffe\uffff]/.test(xml)]).toEqual([name, false]);
  });

  test('names nobody without an author', async () => {
    const members = await readMembers(documentOf([], { author: ' ' }));
    expect(readParagraphs(members.get('word/document.xml')!).map(({ text }) => text)).toEqual(['My year', '2026']);
    const properties = parseXml(members.get('docProps/core.xml')!);
    for (const name of ['dc:creator', 'cp:lastModifiedBy'])
      expect(properties.getElementsByTagName(name)[0]?.textContent ?? '').toBe('');
  });

  test.each([
    ['a4', '11906', '16838'],
    ['letter', '12240', '15840'],
  ] as const)('has pages of %s', async (paper, width, height) => {
    const xml = parseXml((await readMembers(documentOf([]), paper)).get('word/document.xml')!);
    const size = xml.getElementsByTagName('w:pgSz')[0]!;
    expect([size.getAttribute('w:w'), size.getAttribute('w:h')]).toEqual([width, height]);
  });

  test('runs a line from right to left that begins with such a letter', async () => {
    const read = await readDocument(
      documentOf([heading('סיכום'), win('2026-02-03', '2 חוזים עם Acme'), win('2026-02-04', 'Signed חוזה')]),
    );
    expect(read.map(({ isRightToLeft }) => isRightToLeft)).toEqual([false, false, true, true, false]);
    expect(read[3]!.text).toBe('2 חוזים עם Acme\u200f\u00a0\u00a0Feb\u00a03');
  });

  test('is well-formed whatever the lines are, and keeps their words', async () => {
    const text = fc.string({ unit: fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), fc.constantFrom(...ODD)) });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (title, author, line) => {
        const document = documentOf([heading(line), win('2026-02-03', line)], { title, author });
        const members = await readMembers(document);
        for (const [path, content] of members) if (path.endsWith('.xml')) parseXml(content);
        const words = sectionsOf(document).flatMap(({ heading: name, wins }) => [
          ...(name === null ? [] : [name]),
          ...wins.map((each) => each.text),
        ]);
        const read = readParagraphs(members.get('word/document.xml')!).slice(2);
        expect(read.length).toBe(words.length);
        for (const [index, word] of words.entries()) expect(read[index]!.text).toContain(withoutForbidden(word));
      }),
      { numRuns: 30 },
    );
  });
});

test.each(['\u0085', '\u2028', '\u000b', '\n'])('keeps words apart that %j separates', async (end) => {
  const document = documentOf([win('2026-03-01', `one${end}two`)], { title: `my${end}year`, author: `A${end}B` });
  const read = readParagraphs((await readMembers(document)).get('word/document.xml')!);
  expect(read.map(({ text }) => text)).toEqual(['my year', 'A B  ·  2026', 'one two\u00a0\u00a0Mar\u00a01']);
});

const ODD = ['\u0000', '\u000b', '\u001b', '\ud800', '\uffff', '\ufffe', ']]>', '&amp;', '<w:p/>', '\u0085', '😀', 'א'];
/** XML 1.0 has none of these. */
const withoutForbidden = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- names them
  text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g, '');
