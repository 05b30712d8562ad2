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
      expect(decodeText(bytes)).not.toContain('\uFFFD');
    }),
  );
});
