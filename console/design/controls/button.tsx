import { type ComponentProps, type ReactNode, useContext } from 'react';
import { Link } from 'wouter';
import { OpenScreens } from '../../client/open-screens.ts';
import classes from './controls.module.css';

/** `primary`: what people come to a screen for, once on it. `danger`: it can't be undone. */
export type Look = 'primary' | 'danger' | 'plain';

const classOf = (look: Look | undefined): string => [classes.button, look && classes[look]].filter(Boolean).join(' ');

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  look?: Look;
  /** True: it is at work, and presses have no effect. Unlike a disabled button, it keeps the focus. */
  isBusy?: boolean;
}

/** Does something. */
export const Button = ({ look, type = 'button', isBusy = false, onClick, ...rest }: ButtonProps) => (
  <button {...rest} type={type} aria-disabled={isBusy || undefined} onClick={isBusy ? undefined : onClick} className={classOf(look)} />
);

/** Leads to another screen, and looks like a button. Users who can do nothing there don't see it. */
export const ButtonLink = ({ to, look, children }: { to: string; look?: Look; children: ReactNode }) => {
  const isOpen = useContext(OpenScreens);
  if (!isOpen(to)) return null;
  return (
    <Link to={to} className={classOf(look)}>
      {children}
    </Link>
  );
};
