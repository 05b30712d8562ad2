/** File systems of their own for tests of a full and a read-only disk. Mounting one needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The size of a sparse file: it takes only the space of what is written to it. */
const IMAGE_BYTES = 1024 ** 3;
/** The exit code of `e2fsck` after it corrected the file system. */
const CORRECTED = 1;

export type MountedDisk = {
  /** The mount point. */
  readonly folder: string;
  /** Whether this user may mount a file system. */
  readonly isMounted: boolean;
  /** Mounts it again with another option. `ro` is refused while a file is open for writing. */
  remount(option: string): void;
  /** Unmounts the disk, even while it is in use, and deletes its files. */
  remove(): void;
};

export type BreakableDisk = MountedDisk & {
  /** Makes all writes fail, also those to open files. */
  makeReadOnly(): void;
  /** Returns false while a process uses the disk. */
  unmount(): boolean;
  /** Repairs the unmounted disk and mounts it for reading and writing. */
  repair(): void;
};

const run = (command: string, ...args: string[]): void => void execFileSync(command, args, { stdio: 'ignore' });
const exitCodeOf = (command: string, ...args: string[]): number | null => spawnSync(command, args).status;

function createDisk(testFile: string, mount: (folder: string, home: string) => void): MountedDisk {
  const home = mkdtempSync(join(tmpdir(), 'hustle-forge-disk-'));
  const folder = join(home, 'data');
  mkdirSync(folder);
  const deleteFiles = (): void => rmSync(home, { recursive: true });
  let isMounted = true;
  try {
    mount(folder, home);
  } catch (error) {
    isMounted = false;
    deleteFiles();
    // oxlint-disable-next-line no-console -- a skipped test must say why
    console.warn(`${testFile} is skipped: this user may not mount a file system (${String(error)})`);
  }
  return {
    folder,
    isMounted,
    remount: (option) => run('mount', '-o', `remount,${option}`, folder),
    remove() {
      // Fails if a test has unmounted the disk.
      exitCodeOf('umount', '-l', folder);
      deleteFiles();
    },
  };
}

/** A file system in memory. */
export const createMemoryDisk = (testFile: string, options: string): MountedDisk =>
  createDisk(testFile, (folder) => run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder));

/**
 * An ext4 file system in a file. Remounting with `ro` fails while a file is open for writing, but `abort` is what the
 * kernel does after a failed write to the device: every later write, also to an open file, fails with EROFS.
 */
export function createBreakableDisk(testFile: string): BreakableDisk {
  let image = '';
  const mount = (folder: string): void => run('mount', '-o', 'loop,errors=remount-ro', image, folder);
  const disk = createDisk(testFile, (folder, home) => {
    image = join(home, 'image');
    writeFileSync(image, '');
    truncateSync(image, IMAGE_BYTES);
    run('mkfs.ext4', '-q', image);
    mount(folder);
  });
  return {
    ...disk,
    makeReadOnly: () => disk.remount('abort'),
    unmount: () => exitCodeOf('umount', disk.folder) === 0,
    repair() {
      const status = exitCodeOf('e2fsck', '-p', image);
      if (status !== 0 && status !== CORRECTED) throw new Error(`e2fsck ended with ${status}`);
      mount(disk.folder);
    },
  };
}
