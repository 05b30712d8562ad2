/**
 * A wins document as a Word file, with styles of Word for its title, headings and list. Loads with the library as a
 * chunk of its own, at the first export.
 */
import {
  AlignmentType,
  BorderStyle,
  Document,
  HeadingLevel,
  LevelFormat,
  Packer,
  Paragraph,
  TabStopType,
  TextRun,
  type IParagraphOptions,
} from 'docx';
import { RIGHT_TO_LEFT } from '#domain/isolate.ts';
import { withoutControls } from '#domain/log/entry-html.ts';
import {
  authorOf,
  factsOf,
  lineDate,
  periodLabel,
  sectionsOf,
  titleOf,
  type WinsDocument,
} from '#domain/documents/wins-document.ts';

const TWIPS_PER_MM = 56.7;
const MARGIN = Math.round(25 * TWIPS_PER_MM);
/** The sizes of the paper, in twips. `paperOf` (hand-in.tsx) chooses by region. */
const PAGES = { letter: { width: 12_240, height: 15_840 }, a4: { width: 11_906, height: 16_838 } } as const;
const QUIET = '645C52';
const INK = '1D1A17';
const BULLETS = 'wins';

/** `paper`: from the user's locale. */
export async function docxFile(document: WinsDocument, paper: keyof typeof PAGES): Promise<Blob> {
  const [title, author] = [titleOf(document), authorOf(document)].map(xmlText) as [string, string];
  const page = PAGES[paper];
  const textWidth = page.width - 2 * MARGIN;
  const body = sectionsOf(document).flatMap(({ heading, wins }) => [
    ...(heading === null ? [] : [new Paragraph({ heading: HeadingLevel.HEADING_1, ...textOptions(heading) })]),
    ...wins.map(
      ({ text, date }) =>
        new Paragraph({
          style: 'Win',
          numbering: { reference: BULLETS, level: 0 },
          ...directionOf(text),
          children: [
            run(text),
            // A no-break space: the day never stands alone on a line.
            new TextRun({
              text: `${isRightToLeft(text) ? '\u200f' : ''}\u00a0\u00a0${lineDate(date, document).replaceAll(' ', '\u00a0')}`,
              style: 'Day',
            }),
          ],
        }),
    ),
  ]);
  return Packer.toBlob(
    new Document({
      title,
      subject: `Wins, ${periodLabel(document.from, document.to)}`,
      // Without these fields the library writes "Un-named".
      creator: author,
      lastModifiedBy: author,
      styles: {
        default: {
          document: { run: { font: FONTS, size: 22, color: INK }, paragraph: { spacing: { line: 276, after: 80 } } },
          title: {
            run: { font: HEADING_FONTS, size: 52, color: INK },
            paragraph: { spacing: { after: 60 }, keepNext: true },
          },
          heading1: {
            run: { font: HEADING_FONTS, size: 30, color: INK },
            paragraph: { spacing: { before: 360, after: 100 }, keepNext: true },
          },
        },
        paragraphStyles: [
          {
            id: 'Facts',
            name: 'Facts',
            basedOn: 'Normal',
            run: { color: QUIET },
            paragraph: {
              spacing: { after: 320 },
              border: { bottom: { style: BorderStyle.SINGLE, size: 4, space: 10, color: 'E6DFD3' } },
            },
          },
          {
            id: 'Win',
            name: 'Win',
            basedOn: 'Normal',
            quickFormat: true,
            paragraph: { spacing: { after: 80 }, keepLines: true },
          },
        ],
        characterStyles: [{ id: 'Day', name: 'Day', run: { color: QUIET, size: 18 } }],
      },
      numbering: {
        config: [
          {
            reference: BULLETS,
            levels: [
              {
                level: 0,
                format: LevelFormat.BULLET,
                text: '•',
                alignment: AlignmentType.START,
                style: { paragraph: { indent: { left: 340, hanging: 340 } } },
              },
            ],
          },
        ],
      },
      sections: [
        {
          properties: { page: { size: page, margin: { top: MARGIN, bottom: MARGIN, left: MARGIN, right: MARGIN } } },
          children: [
            new Paragraph({ heading: HeadingLevel.TITLE, ...textOptions(title) }),
            new Paragraph({
              style: 'Facts',
              tabStops: [{ type: TabStopType.RIGHT, position: textWidth }],
              children: factsOf(document).flatMap((fact, index) =>
                index === 0 ? [run(fact)] : [new TextRun('  ·  '), run(fact)],
              ),
            }),
            ...body,
          ],
        },
      ],
    }),
  );
}

/** Fonts that Word has; other programs replace those that they lack. East Asian and right-to-left text has its own. */
const FONTS = { ascii: 'Calibri', hAnsi: 'Calibri', cs: 'Arial', eastAsia: 'Yu Gothic' };
const HEADING_FONTS = { ascii: 'Georgia', hAnsi: 'Georgia', cs: 'Times New Roman', eastAsia: 'Yu Mincho' };

/** The first letter with a direction decides, as `dir="auto"` does. */
const FIRST_STRONG = /[\p{L}]/u;
const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(FIRST_STRONG.exec(text)?.[0] ?? '');

const directionOf = (text: string): Pick<IParagraphOptions, 'bidirectional'> =>
  isRightToLeft(text) ? { bidirectional: true } : {};
const run = (text: string): TextRun =>
  new TextRun({ text: xmlText(text), ...(isRightToLeft(text) && { rightToLeft: true }) });
const textOptions = (text: string): IParagraphOptions => ({ ...directionOf(text), children: [run(text)] });

/** XML 1.0 excludes most control characters, and Word calls a file with one damaged. */
const xmlText = (text: string): string => withoutControls(text.toWellFormed()).replaceAll(/[\ufffe\uffff]/g, '');
