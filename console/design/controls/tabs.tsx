import { Link, useSearch } from 'wouter';
import classes from './controls.module.css';

interface TabsProps {
  label: string;
  /** The parameter of the URL that names the tab. */
  parameter?: string;
  tabs: readonly (readonly [value: string, label: string])[];
  /** Default: what the URL says, or the first. */
  chosen: string;
}

/** The parts of a screen, each with an address of its own. */
export const Tabs = ({ label, parameter = 'tab', tabs, chosen }: TabsProps) => {
  const search = useSearch();
  const addressOf = (value: string): string => {
    const parameters = new URLSearchParams(search);
    if (value === tabs[0]?.[0]) parameters.delete(parameter);
    else parameters.set(parameter, value);
    return `?${parameters}`;
  };
  return (
    <nav className={classes.tabs} aria-label={label}>
      {tabs.map(([value, text]) => (
        <Link key={value} to={addressOf(value)} className={classes.tab} aria-current={value === chosen ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
};
