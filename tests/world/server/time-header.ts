/** The header with the virtual time of a request's schedule, in milliseconds since 1970. */
export const TIME_HEADER = 'x-world-time';
