/** A value and what people read for it. */
export type Choice<Value extends string = string> = readonly [value: Value, label: string];
