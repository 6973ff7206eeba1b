import { type ReactNode, useContext } from 'react';
import { Link } from 'wouter';
import { OpenScreens } from '../../client/open-screens.ts';

/** A link to a screen, or only its text for users who can do nothing there. */
export const ScreenLink = ({ to, children }: { to: string; children: ReactNode }) => {
  const isOpen = useContext(OpenScreens);
  return isOpen(to) ? <Link to={to}>{children}</Link> : children;
};
