/** True on a Mac, an iPhone or an iPad, which have keys of their own for shortcuts. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
