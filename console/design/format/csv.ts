// Spreadsheets take these for the start of a formula, also in full width.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

const cellOf = (text: string): string => {
  const neutral = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(neutral) ? `"${neutral.replaceAll('"', '""')}"` : neutral;
};

/** Rows as CSV (RFC 4180), in which no cell is a formula. */
export const csvOf = (rows: readonly (readonly string[])[]): string => rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
