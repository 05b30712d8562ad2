/** Chooses the files of an import: single files and zips, a folder, or what the user drops on the area. */
import { useRef, useState, type DragEvent } from 'react';
import { Button } from '#client/ui/button.tsx';
import { MAX_FILES, type ChosenFile } from './open-files.ts';
import common from '../settings.module.css';

const ownPath = (file: File): string => file.webkitRelativePath || file.name;

/** The file inputs are visually hidden; the buttons open them. */
export function FilePicker({ onChoose }: { onChoose: (files: ChosenFile[]) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement): void => {
    const chosen = [...(input.files ?? [])].map((file) => ({ path: ownPath(file), file }));
    // Clear the value, so choosing the same file again fires a change event.
    input.value = '';
    if (chosen.length > 0) onChoose(chosen);
  };
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        className="unseen"
        aria-label="File to import"
        tabIndex={-1}
        onChange={({ currentTarget }) => take(currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        {...{ webkitdirectory: '' }}
        className="unseen"
        aria-label="Folder to import"
        tabIndex={-1}
        onChange={({ currentTarget }) => take(currentTarget)}
      />
      <div className={common.actions}>
        <Button onClick={() => files.current?.click()}>Choose Files</Button>
        <Button onClick={() => folder.current?.click()}>Choose a Folder</Button>
      </div>
    </>
  );
}

/** Takes dropped files and folders. `preventFileDrops` keeps the page open for drops beside it. */
export function useFileDrop(onChoose: (files: ChosenFile[]) => void) {
  const [isOver, setIsOver] = useState(false);
  const dropProps = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false);
    },
    onDrop: (event: DragEvent) => {
      setIsOver(false);
      if (!event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      // The browser empties the list after this event.
      const items = [...event.dataTransfer.items].filter(({ kind }) => kind === 'file');
      const dropped = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
      void collectFiles(dropped.filter((one) => one !== null)).then((files) => {
        if (files.length > 0) onChoose(files);
      });
    },
  };
  return { isOver, dropProps };
}

/** Stops after the first file above the limit, which then refuses the import. */
async function collectFiles(dropped: readonly (FileSystemEntry | File)[]): Promise<ChosenFile[]> {
  const files: ChosenFile[] = [];
  const waiting = [...dropped];
  for (let entry = waiting.pop(); entry && files.length <= MAX_FILES; entry = waiting.pop()) {
    if (entry instanceof File) files.push({ path: entry.name, file: entry });
    else if (entry.isDirectory) waiting.push(...(await readFolder(entry as FileSystemDirectoryEntry)));
    else {
      const file = await readFile(entry as FileSystemFileEntry);
      if (file) files.push({ path: entry.fullPath.replace(/^\//, ''), file });
    }
  }
  return files;
}

const readFile = (entry: FileSystemFileEntry): Promise<File | null> =>
  new Promise((resolve) => entry.file(resolve, () => resolve(null)));

/** Browsers list a folder in parts of 100. */
async function readFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (part.length === 0 || entries.length > MAX_FILES) return entries;
    entries.push(...part);
  }
}
