import type { Task } from '../../client/snippets.ts';
import type { ApiKey } from './key-draft.ts';

interface Listed {
  name: string;
  task: Task;
  organization: string | null;
}

/** One model for each task that a key can use. @param models in the order of their list */
export const callableModels = (
  models: readonly Listed[],
  { models: allowed, scope }: Pick<ApiKey, 'models' | 'scope'>,
): ReadonlyMap<Task, string> => {
  const callable = models.filter(
    ({ name, organization }) => (organization === null) === (scope === 'serverless') && (allowed?.includes(name) ?? true),
  );
  const [first] = allowed ?? [];
  // A key can name a model that is not there yet.
  if (callable.length === 0 && first !== undefined) return new Map([['generate', first]]);
  return new Map([...callable].reverse().map(({ name, task }) => [task, name] as const));
};
