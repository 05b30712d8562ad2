/** Decodes a text file of unknown encoding. Stores no replacement character (U+FFFD) that the file does not contain. */
import { UnreadableTextError } from '#domain/journals/journal-reader.ts';

const SAMPLE_BYTES = 4_096;
/** A UTF-8 file with fewer damaged places than this part of its multibyte characters is still UTF-8. */
const MAX_DAMAGED_PART = 0.1;

/** @throws UnreadableTextError for a binary file */
export function decodeText(bytes: Uint8Array): string {
  const label = utf16LabelOf(bytes);
  if (label !== null) return new TextDecoder(label).decode(bytes).replaceAll('\uFFFD', '');
  if (bytes.includes(0)) throw new UnreadableTextError('a binary file');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decodeDamaged(bytes);
  }
}

/** The beginning of a file, whose last character may be cut. For `detect` only. */
export const decodeStart = (bytes: Uint8Array): string => new TextDecoder(utf16LabelOf(bytes) ?? 'utf-8').decode(bytes);

/** By the byte order mark, or by the zeros that half of the bytes of Western text have. */
function utf16LabelOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  sample.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2]! += 1;
  });
  const [even, odd] = zeros as [number, number];
  const most = sample.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : null;
}

/** Windows-1252, or UTF-8 with a few damaged places, whose bytes are left out. */
function decodeDamaged(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  let damaged = 0;
  let multibyte = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0xff_fd) damaged += 1;
    else if (unit > 0x7f) multibyte += 1;
  }
  if (damaged <= multibyte * MAX_DAMAGED_PART) return text.replaceAll('\uFFFD', '');
  return new TextDecoder('windows-1252').decode(bytes);
}
