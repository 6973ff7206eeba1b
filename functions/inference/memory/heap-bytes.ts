const { heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics();

/** The most bytes of V8's heap, which follow from the function's memory. What a request can need depends on them. */
export const heapBytes = heap_size_limit;
