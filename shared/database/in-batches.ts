/** Elements in groups of at most `size`, in their order. */
export const inBatches = <Element>(elements: readonly Element[], size: number): Element[][] =>
  Array.from({ length: Math.ceil(elements.length / size) }, (_, i) => elements.slice(i * size, (i + 1) * size));
