/** Names of time zones for sentences: the place of an IANA zone, or its offset from UTC. */

/** Browsers still report these former names of places. */
const RENAMED: Readonly<Record<string, string>> = {
  Asmera: 'Asmara',
  Calcutta: 'Kolkata',
  Faeroe: 'Faroe Islands',
  Godthab: 'Nuuk',
  Katmandu: 'Kathmandu',
  Kiev: 'Kyiv',
  Rangoon: 'Yangon',
  Saigon: 'Ho Chi Minh City',
};

export type TimeZoneName = {
  /** `Lisbon`, or `UTC+7` */
  name: string;
  isPlace: boolean;
};

/** `Lisbon` of `Europe/Lisbon`. A zone that names no place is `UTC`, `UTC+7`, or its own name, such as `EST5EDT`. */
export function timeZoneName(timeZone: string): TimeZoneName {
  // POSIX: `Etc/GMT-7` is seven hours ahead of Greenwich.
  const fixed = /^(?:Etc\/)?(?:GMT|UTC|UCT|Zulu|Universal|Greenwich)(?:([+-]?)(\d+))?$/.exec(timeZone);
  if (fixed) {
    const [, sign, hours = '0'] = fixed;
    return { name: Number(hours) === 0 ? 'UTC' : `UTC${sign === '+' ? '-' : '+'}${hours}`, isPlace: false };
  }
  const offset = /^([+-])0?(\d+):(\d\d)$/.exec(timeZone);
  if (offset) {
    const [, sign, hours, minutes] = offset;
    return { name: `UTC${sign}${hours}${minutes === '00' ? '' : `:${minutes}`}`, isPlace: false };
  }
  if (!timeZone.includes('/')) return { name: timeZone, isPlace: false };
  const place = timeZone.slice(timeZone.lastIndexOf('/') + 1);
  return { name: RENAMED[place] ?? place.replaceAll('_', ' '), isPlace: true };
}

/** `in Lisbon`, or `UTC+7`: follows a time. */
export function afterTime(timeZone: string): string {
  const { name, isPlace } = timeZoneName(timeZone);
  return isPlace ? `in ${name}` : name;
}
