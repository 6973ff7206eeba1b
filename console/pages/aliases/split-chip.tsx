import { Chip } from '../../design/data/values.tsx';
import type { Alias } from './alias-draft.ts';

/** The state of an alias's split; nothing without one. */
export const SplitChip = ({ split }: Pick<Alias, 'split'>) =>
  split && (split.stopped_at === null ? <Chip state="split" tone="accent" /> : <Chip state="split stopped" tone="bad" />);
