import type { LambdaFunction, LocalApp } from '../../assembly/local-app.ts';

type Triggers = Pick<LocalApp, 'apis' | 'functions' | 'schedules' | 'eventRules' | 'eventSources' | 'queueSources' | 'logSubscriptions'>;

/**
 * Returns whether a function works in the background: AWS's services invoke it, by a schedule, an event, a stream, a
 * queue or a log, or only functions that work so, and no host does. Callers of a host don't wait for such a function,
 * so it can start late.
 */
export const createIsBackground = (app: Triggers): ((fn: LambdaFunction) => boolean) => {
  const { functions, schedules, eventRules, eventSources, queueSources, logSubscriptions } = app;
  const served = new Set(app.apis.flatMap(({ routes }) => routes.map(({ functionArn }) => functionArn)));
  const arns = new Set([...schedules, ...eventRules, ...logSubscriptions].map(({ functionArn }) => functionArn));
  const names = new Set([...eventSources, ...queueSources].map(({ functionName }) => functionName));
  // A function that invokes another one has its name in a variable.
  const isInvokedInBackground = (name: string): boolean => {
    const invokers = functions.filter(({ environment }) => Object.values(environment).includes(name));
    return invokers.length > 0 && invokers.every(({ arn }) => !served.has(arn));
  };
  return ({ arn, name, shortName }) =>
    !served.has(arn) && (arns.has(arn) || names.has(name) || names.has(shortName) || isInvokedInBackground(name));
};
