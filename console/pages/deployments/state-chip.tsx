import { Chip } from '../../design/data/values.tsx';
import { type DeploymentState, toneOf } from './deployment-state.ts';

/** The state of a deployment. */
export const StateChip = ({ state }: { state: DeploymentState }) => <Chip state={state} tone={toneOf(state)} />;
