/** Delivers notifications. */
export const handler = async (): Promise<never> => {
  throw new Error('Notifications are not delivered yet.');
};
