import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { faultOfMoney } from '../../design/format/amounts.ts';

export type Project = ReplyBody<'GET /v1/projects/{id}'>;
type NewProject = RequestBody<'POST /v1/projects'>;
type ProjectChange = RequestBody<'PATCH /v1/projects/{id}'>;

export const BUDGETS = ['day', 'month', 'total'] as const;
export type BudgetPeriod = (typeof BUDGETS)[number];

/** The fields of a project as its forms edit them: budgets in dollars; an empty text stands for none. */
export type ProjectDraft = { name: string } & Record<(typeof BUDGETS)[number], string>;

export const PROJECT_LABELS = {
  name: 'Name',
  day: 'Budget per day',
  month: 'Budget per month',
  total: 'Budget in total',
} as const satisfies Record<keyof ProjectDraft, string>;

export const EMPTY_PROJECT: ProjectDraft = { name: '', day: '', month: '', total: '' };

/** A project as its form edits it. */
export const draftOfProject = ({ name, budgets: { day, month, total } }: Project): ProjectDraft => ({
  name,
  day: day ?? '',
  month: month ?? '',
  total: total ?? '',
});

/** Why fields can't be sent. */
export const faultsOfProject = (draft: ProjectDraft): Partial<Record<keyof ProjectDraft, string>> =>
  Object.fromEntries(
    BUDGETS.flatMap((name) => {
      const fault = faultOfMoney(draft[name], '12.50');
      return fault === undefined ? [] : [[name, fault]];
    }),
  );

export const isProjectComplete = (draft: ProjectDraft): boolean =>
  draft.name.trim() !== '' && Object.keys(faultsOfProject(draft)).length === 0;

/** The body that creates a project. Without budgets, it has no limiter, which costs its requests nothing. */
export const newProjectOf = (draft: ProjectDraft, organization: string | undefined): NewProject => {
  const budgets = BUDGETS.filter((name) => draft[name] !== '');
  return {
    name: draft.name.trim(),
    ...(organization && { organization }),
    ...(budgets.length > 0 && { budgets: Object.fromEntries(budgets.map((name) => [name, draft[name]])) }),
  };
};

/** The body that changes a project: only what differs from it. */
export const changesOfProject = (draft: ProjectDraft, project: Project): ProjectChange => {
  const opened = draftOfProject(project);
  const budgets = BUDGETS.filter((name) => draft[name] !== opened[name]);
  return {
    ...(draft.name.trim() !== opened.name && { name: draft.name.trim() }),
    ...(budgets.length > 0 && { budgets: Object.fromEntries(budgets.map((name) => [name, draft[name] || null])) }),
  };
};
