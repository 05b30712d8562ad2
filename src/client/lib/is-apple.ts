/** True on a Mac, an iPhone or an iPad, whose shortcuts use ⌘, ⌥ and ⌃ instead of Ctrl and Alt. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
