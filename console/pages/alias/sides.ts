import type { ReplyBody } from '../../client/routes.ts';
import { formatCount } from '../../design/format/amounts.ts';
import type { Alias } from '../aliases/alias-draft.ts';

export type Split = NonNullable<Alias['split']>;
type Series = ReplyBody<'GET /v1/observability/metrics'>['series'][number];

/** A side of a split with how it has answered; undefined: it has not yet. */
export interface SideRow {
  side: 'base' | 'new';
  model: string;
  totals: Series['totals'] | undefined;
}

/** Both sides of an alias's split. */
export const sidesOf = (
  series: readonly Pick<Series, 'alias' | 'side' | 'totals'>[],
  { alias, model }: Pick<Alias, 'alias' | 'model'>,
  newModel: string,
): SideRow[] => {
  const of = (side: SideRow['side']) => series.find((each) => each.alias === alias && each.side === side)?.totals;
  return [
    { side: 'base', model, totals: of('base') },
    { side: 'new', model: newModel, totals: of('new') },
  ];
};

/** Why a split has stopped, in words. */
export const reasonOf = ({ model, max_error_percent, stopped_by }: Pick<Split, 'model' | 'max_error_percent' | 'stopped_by'>): string =>
  stopped_by === null
    ? `too many requests to ${model} failed`
    : `${formatCount(stopped_by.failed_requests)} of the last ${formatCount(stopped_by.requests)} requests to ${model} failed; the limit is ${max_error_percent}%`;
