/** True if random, fault and load tests run at their full sizes: `npm run test:full`. */
export const isFull = process.env.TEST_SIZE === 'full';
