import { stringify } from 'csv-stringify/sync';

/** A value of a file: null is an empty cell. */
export type Cell = string | null;

// Spreadsheets take these for the start of a formula, also in full width
// (https://owasp.org/www-community/attacks/CSV_Injection).
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
// A number starts with a minus, too, and is no formula.
const NUMBER = /^-?\d+(\.\d+)?$/;

const neutralized = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

/** Lines of CSV (RFC 4180) in UTF-8, each ended by a carriage return and a line feed. */
export const csvLines = (rows: readonly (readonly Cell[])[]): string =>
  stringify(
    rows.map((row) => row.map((cell) => (cell === null ? '' : neutralized(cell)))),
    // By itself it quotes only what contains the whole delimiter.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]/ },
  );
