/** The time of the schedule that sends a request, in milliseconds: schedules run at the same time. */
export const TIME_HEADER = 'x-world-time';
