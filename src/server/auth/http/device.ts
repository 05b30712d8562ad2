/** The client of a request; `userAgent` is its header, cut to 500 characters. */
export type Device = { ip: string; userAgent: string | null };
