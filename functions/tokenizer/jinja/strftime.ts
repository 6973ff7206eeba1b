const twoDigits = (value: number): string => String(value).padStart(2, '0');
const nameOf = (date: Date, part: Intl.DateTimeFormatOptions): string => new Intl.DateTimeFormat('en-US', part).format(date);
const dayOfYear = (date: Date): number =>
  Math.round((Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 1)) / 86_400_000) + 1;
const hourOfHalfDay = (date: Date): number => date.getHours() % 12 || 12;

const directives: Record<string, (date: Date) => string> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => twoDigits(date.getFullYear() % 100),
  m: (date) => twoDigits(date.getMonth() + 1),
  d: (date) => twoDigits(date.getDate()),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  B: (date) => nameOf(date, { month: 'long' }),
  b: (date) => nameOf(date, { month: 'short' }),
  A: (date) => nameOf(date, { weekday: 'long' }),
  a: (date) => nameOf(date, { weekday: 'short' }),
  H: (date) => twoDigits(date.getHours()),
  I: (date) => twoDigits(hourOfHalfDay(date)),
  M: (date) => twoDigits(date.getMinutes()),
  S: (date) => twoDigits(date.getSeconds()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  '-d': (date) => String(date.getDate()),
  '-m': (date) => String(date.getMonth() + 1),
  '-H': (date) => String(date.getHours()),
  '-I': (date) => String(hourOfHalfDay(date)),
  '%': () => '%',
};

/** Formats a local time as Python's `strftime` in the C locale. @throws Error for a directive that is not supported */
export const strftime = (date: Date, format: string): string =>
  format.replace(/%(-?.)/gs, (whole, name: string) => {
    const directive = Object.hasOwn(directives, name) ? directives[name] : undefined;
    if (!directive) throw new Error(`The directive '${whole}' of strftime_now is not supported.`);
    return directive(date);
  });
