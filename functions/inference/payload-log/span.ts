/** A part of a text: from its first character, to the one after its last. */
export type Span = readonly [from: number, to: number];
