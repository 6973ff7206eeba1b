import { Chip } from '../../design/data/values.tsx';

interface ModelStatusProps {
  model: { status: string; deprecation: { deprecated_at: number } | null };
}

/** The state of a model, and that it is deprecated or will be. */
export const ModelStatus = ({ model: { status, deprecation } }: ModelStatusProps) => (
  <>
    <Chip state={status} />{' '}
    {deprecation && <Chip state={deprecation.deprecated_at * 1_000 > Date.now() ? 'deprecated soon' : 'deprecated'} tone="warn" />}
  </>
);
