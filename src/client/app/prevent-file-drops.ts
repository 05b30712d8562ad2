/** Keeps the page open when the user drops a file on it: browsers would open the file in its place. */
export function preventFileDrops(): void {
  addEventListener('dragover', keepPage);
  addEventListener('drop', keepPage);
}

function keepPage(event: DragEvent): void {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
}
