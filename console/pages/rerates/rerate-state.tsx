import type { Tone } from '../../design/data/tone.ts';
import { Chip } from '../../design/data/values.tsx';
import type { Rerate } from './rerate-draft.ts';

const TONES: Readonly<Record<Rerate['state'], Tone>> = { previewing: 'accent', previewed: 'warn', executing: 'accent', completed: 'good' };

/** The state of a rerate. */
export const RerateState = ({ rerate: { state } }: { rerate: Pick<Rerate, 'state'> }) => <Chip state={state} tone={TONES[state]} />;
