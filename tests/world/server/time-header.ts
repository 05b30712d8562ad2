/** Request header: the virtual time of the schedule that sends the request, in milliseconds since 1970. */
export const TIME_HEADER = 'x-world-time';
