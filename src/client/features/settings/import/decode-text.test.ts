import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnreadableTextError } from '#domain/journals/journal-reader.ts';
import { decodeText } from './read-journal.ts';

const WORDS = 'Größe: 5 °C – “déjà vu”, naïve café';
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytesOf = (...parts: (number[] | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
function utf16(text: string, isLittle: boolean): number[] {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)).flatMap((unit) =>
    isLittle ? [unit & 0xff, unit >> 8] : [unit >> 8, unit & 0xff],
  );
}
/** The characters of Windows-1252 that Latin-1 lacks, as this test uses them. */
const WINDOWS: Record<string, number> = { '–': 0x96, '“': 0x93, '”': 0x94, '€': 0x80 };
const windows1252 = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => WINDOWS[character] ?? character.charCodeAt(0));

test.each([
  ['UTF-8', utf8(WORDS)],
  ['UTF-8 with a mark', bytesOf([0xef, 0xbb, 0xbf], utf8(WORDS))],
  ['UTF-16 LE with a mark', bytesOf([0xff, 0xfe], utf16(WORDS, true))],
  ['UTF-16 BE with a mark', bytesOf([0xfe, 0xff], utf16(WORDS, false))],
  ['UTF-16 LE', bytesOf(utf16(WORDS.replaceAll(/[–“”]/g, '-'), true))],
  ['UTF-16 BE', bytesOf(utf16(WORDS.replaceAll(/[–“”]/g, '-'), false))],
  ['Windows-1252', windows1252(WORDS)],
])('decodes %s', (name, bytes) => {
  expect(decodeText(bytes)).toBe(/16 .E$/.test(name) ? WORDS.replaceAll(/[–“”]/g, '-') : WORDS);
});

test.each<[string, number[]]>([
  ['Cyrillic', [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xec, 0xe8, 0xf0]],
  ['Greek', [0xca, 0xe1, 0xeb, 0xe7, 0xec, 0xdd, 0xf1, 0xe1]],
  ['Chinese', [0xc4, 0xe3, 0xba, 0xc3, 0xca, 0xc0, 0xbd, 0xe7]],
  ['Japanese', [0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]],
  ['Polish', [...utf8('Przysz'), 0xb3, 0x6f, 0x9c, 0xe6, ...utf8(' '), 0xbf]],
  ['old Mac', [...utf8('f'), 0x9f, ...utf8('r M'), 0x9f, ...utf8('ller, sch'), 0x9a, ...utf8('n')]],
])('refuses %s text in an encoding of its own', (_script, bytes) => {
  expect(() => decodeText(bytesOf(utf8('# 2024-05-01\n'), bytes))).toThrow(new UnreadableTextError('encoding'));
});

test('decodes Cyrillic UTF-16 without a mark, of which few bytes are zero', () => {
  const text = '# 2024-05-01\nСегодня готово: отчёт, письмо и звонок с заказчиком\n'.repeat(3);
  expect(decodeText(bytesOf(utf16(text, true)))).toBe(text);
  expect(decodeText(bytesOf(utf16(text, false)))).toBe(text);
});

test('leaves out the damaged bytes of UTF-8, and keeps a replacement character of the file', () => {
  const text = 'Größe – größer – am größten – größtmöglich '.repeat(3);
  expect(decodeText(bytesOf(utf8(text), [0xc3]))).toBe(text);
  expect(decodeText(utf8(`before \uFFFD after`))).toBe('before \uFFFD after');
});

test.each([
  ['a picture', [0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1, 255, 0, 7]],
  ['a text with a null character', [...utf8('Friday'), 0, ...utf8('and more words')]],
])('refuses %s', (_case, bytes) => {
  expect(() => decodeText(Uint8Array.from(bytes))).toThrow(UnreadableTextError);
});

test('decodes every well-formed text without null characters that was written as UTF-8 or with a mark as UTF-16', () => {
  const texts = fc
    .string({ unit: 'binary', minLength: 1 })
    .filter(
      (text) => text.isWellFormed() && !text.includes('\0') && !text.includes('\uFFFD') && !text.startsWith('\uFEFF'),
    );
  fc.assert(
    fc.property(texts, (text) => {
      expect(decodeText(utf8(text))).toBe(text);
      expect(decodeText(bytesOf([0xff, 0xfe], utf16(text, true)))).toBe(text);
      expect(decodeText(bytesOf([0xfe, 0xff], utf16(text, false)))).toBe(text);
    }),
  );
});

test('never makes a replacement character of any bytes that hold none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ min: 1, maxLength: 60 }), (bytes) => {
      fc.pre(!new TextDecoder('latin1').decode(bytes).includes('\u00ef\u00bf\u00bd'));
      let text = '';
      try {
        text = decodeText(bytes);
      } catch (error) {
        expect(error).toEqual(new UnreadableTextError('encoding'));
      }
      expect(text).not.toContain('\uFFFD');
    }),
  );
});
