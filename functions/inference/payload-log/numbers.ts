import type { Span } from './span.ts';

const ZERO = 48;
const MIN_CARD_DIGITS = 13;
const MAX_CARD_DIGITS = 19;

/** Digits with single spaces or hyphens between some of them. */
const DIGITS = /(?<![\dA-Za-z])\d(?:[ -]?\d){12,}(?![A-Za-z])/g;
/** The first digits of the large card networks. */
const NETWORK = /^(?:3[0-9]|4|5[0-9]|6|2[2-7])/;

/** Whether the last digit is right (ISO/IEC 7812-1, the Luhn algorithm). */
const isLuhnValid = (digits: string): boolean => {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - ZERO;
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
};

/** The groups of digits in a run: where each one begins, and its digits. */
const groupsOf = (run: string, from: number) => [...run.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({ from: from + index, digits }));

/** A card number in a run of digits begins and ends with a group: `12 4111 1111 1111 1111` has one. */
const cardsIn = (run: string, from: number): Span[] => {
  const groups = groupsOf(run, from);
  const spans: Span[] = [];
  for (let first = 0; first < groups.length; first++) {
    let digits = '';
    for (let last = first; last < groups.length && digits.length <= MAX_CARD_DIGITS; last++) {
      const group = groups[last] as (typeof groups)[number];
      digits += group.digits;
      if (digits.length < MIN_CARD_DIGITS || digits.length > MAX_CARD_DIGITS || !NETWORK.test(digits) || !isLuhnValid(digits)) continue;
      spans.push([(groups[first] as (typeof groups)[number]).from, group.from + group.digits.length]);
      first = last;
      break;
    }
  }
  return spans;
};

/** Numbers of payment cards, whose check digit is right. */
export const cardSpans = (text: string): Span[] => [...text.matchAll(DIGITS)].flatMap(({ 0: run, index }) => cardsIn(run, index));

const IBAN_START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ A-Za-z0-9])/g;
const ALPHANUMERIC = /[A-Za-z0-9]/;
const MIN_IBAN = 15;
const MAX_IBAN = 34;
const LETTER_VALUE_BASE = 36;

/** Whether the checksum of an IBAN is right (ISO 13616: its rearranged digits are 1 modulo 97). */
const isIbanValid = (iban: string): boolean => {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, LETTER_VALUE_BASE);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
};

/** The end of the longest IBAN that begins here; 0: there is none. */
const endOfIban = (text: string, from: number): number => {
  let iban = '';
  let end = 0;
  for (let at = from; at < text.length && iban.length < MAX_IBAN; at++) {
    const character = text[at] as string;
    if (character === ' ' && text[at - 1] !== ' ') continue;
    if (!ALPHANUMERIC.test(character)) break;
    iban += character;
    const isWhole = !ALPHANUMERIC.test(text[at + 1] ?? ' ');
    if (isWhole && iban.length >= MIN_IBAN && isIbanValid(iban)) end = at + 1;
  }
  return end;
};

/** Bank account numbers, in groups or not, whose checksum is right. */
export const ibanSpans = (text: string): Span[] => {
  const spans: Span[] = [];
  for (const { index } of text.matchAll(IBAN_START)) {
    const end = index < (spans.at(-1)?.[1] ?? 0) ? 0 : endOfIban(text, index);
    if (end > 0) spans.push([index, end]);
  }
  return spans;
};
