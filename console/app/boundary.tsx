import { Component, type ReactNode } from 'react';
import { Button } from '../design/controls/button.tsx';
import { Failure } from '../design/feedback/failure.tsx';

const RELOADED = 'sluice-reloaded-at';
const RELOADS_AGAIN_AFTER_MS = 60_000;

// A release that replaced the files of an open page: its new page knows their new names.
const isMissingChunk = (error: Error): boolean => /dynamically imported module|module script failed|error loading/i.test(error.message);

const reloadOnce = (): void => {
  const reloadedAt = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (Date.now() - reloadedAt < RELOADS_AGAIN_AFTER_MS) return;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
};

interface BoundaryState {
  error?: Error;
}

/** Shows a fault of a screen in its place, and loads the page again if a file of an older release is gone. */
export class Boundary extends Component<{ children: ReactNode }, BoundaryState> {
  override state: BoundaryState = {};

  static getDerivedStateFromError(error: Error): BoundaryState {
    return { error };
  }

  override componentDidCatch(error: Error): void {
    if (isMissingChunk(error)) reloadOnce();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const failure = isMissingChunk(error) ? new Error('The console has been updated. Reload the page to continue.') : error;
    return (
      <>
        <Failure failure={failure} />
        <Button onClick={() => location.reload()}>Reload page</Button>
      </>
    );
  }
}
