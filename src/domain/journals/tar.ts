/** The files in a tar archive (POSIX ustar, with long names of GNU and pax), which has no compression. */
import type { SourceFile } from './journal-reader.ts';

const BLOCK = 512;

/** Throws a RangeError if the archive is cut off or no tar. */
export function membersOfTar(archive: SourceFile, bytes: Uint8Array): SourceFile[] {
  const members: SourceFile[] = [];
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= bytes.length;) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header[0] === 0) break;
    const size = Number.parseInt(ascii(header, 124, 12).trim(), 8);
    const data = bytes.subarray(at + BLOCK, at + BLOCK + size);
    if (!isHeader(header) || !(size >= 0) || data.length < size)
      throw new RangeError(`not a whole tar: ${archive.path}`);
    const type = String.fromCharCode(header[156]!);
    if (type === 'L') longName = ascii(data, 0, size);
    else if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(ascii(data, 0, size))?.[1] ?? null;
    else {
      const prefix = ascii(header, 257, 5) === 'ustar' ? ascii(header, 345, 155) : '';
      const name = longName ?? (prefix === '' ? '' : `${prefix}/`) + ascii(header, 0, 100);
      longName = null;
      if (type === '0' || type === '\0' || type === '7')
        members.push({ path: `${archive.path}/${name}`, size, modifiedAt: null, read: async () => data });
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (members.length === 0) throw new RangeError(`an empty tar: ${archive.path}`);
  return members;
}

/** Up to the first NUL. The names that readers look for are ASCII. */
function ascii(bytes: Uint8Array, from: number, length: number): string {
  let text = '';
  for (let at = from; at < from + length && bytes[at] !== 0; at += 1) text += String.fromCharCode(bytes[at]!);
  return text;
}

function isHeader(header: Uint8Array): boolean {
  const stored = Number.parseInt(ascii(header, 148, 8).trim(), 8);
  // The sum counts its own eight bytes as spaces.
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  return stored === sum;
}
