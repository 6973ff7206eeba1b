import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useSignedIn } from '../client/me.ts';
import { SCREENS } from './screens.ts';

const firstPart = (path: string): string | undefined => path.split(/[/?]/)[1];

/** A link to a screen, or only its text for users who can do nothing there. */
export const ScreenLink = ({ to, children }: { to: string; children: ReactNode }) => {
  const me = useSignedIn();
  const isOpen = SCREENS.some(({ path, isFor }) => firstPart(path) === firstPart(to) && isFor(me));
  return isOpen ? <Link to={to}>{children}</Link> : children;
};
