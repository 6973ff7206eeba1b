import { type ReactNode, useEffect, useId } from 'react';
import classes from './layout.module.css';

interface PageProps {
  title: string;
  /** Chips beside the title, such as a status. */
  status?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen: its title, which is also that of the browser's tab, its actions and its content. */
export const Page = ({ title, status, description, actions, children }: PageProps) => {
  useEffect(() => {
    document.title = `${title} – Sluice`;
  }, [title]);
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <div className={classes.titles}>
          <h1 className={classes.title}>
            {title} {status}
          </h1>
          {description && <p className={classes.description}>{description}</p>}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
};

/** The one thing of a page that is not a screen yet, such as the login. */
export const Entrance = ({ children }: { children: ReactNode }) => <main className={classes.entrance}>{children}</main>;

interface SectionProps {
  title: string;
  actions?: ReactNode;
  /** True: on a surface of its own, with a border. */
  isCard?: boolean;
  children: ReactNode;
}

/** A part of a screen with a heading. */
export const Section = ({ title, actions, isCard = false, children }: SectionProps) => {
  const id = useId();
  return (
    <section className={`${classes.section} ${isCard ? classes.card : ''}`} aria-labelledby={id}>
      <div className={classes['section-header']}>
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
};

/** Things below one another. */
export const Stack = ({ children }: { children: ReactNode }) => <div className={classes.stack}>{children}</div>;

/** A list whose entries are below one another. */
export const Items = ({ isOrdered = false, children }: { isOrdered?: boolean; children: ReactNode }) => {
  const List = isOrdered ? 'ol' : 'ul';
  return <List className={classes.stack}>{children}</List>;
};

/** Things beside one another, on several lines if there is no room. */
export const Row = ({ children }: { children: ReactNode }) => <div className={classes.row}>{children}</div>;

/** The filters of a list. */
export const Filters = ({ children }: { children: ReactNode }) => <search className={classes.filters}>{children}</search>;

/** Sections of equal width beside one another, as many as there is room for. */
export const Columns = ({ children }: { children: ReactNode }) => <div className={classes.columns}>{children}</div>;

/**
 * The content of a screen, and beside it something narrow, such as its settings. On a narrow screen, that comes first.
 */
export const Split = ({ children, beside }: { children: ReactNode; beside: ReactNode }) => (
  <div className={classes.split}>
    {beside}
    {children}
  </div>
);

/** Steps with a summary that stays in sight beside them. On a narrow page it is below them. */
export const WithSummary = ({ summary, children }: { summary: ReactNode; children: ReactNode }) => (
  <div className={classes['with-summary']}>
    <div>{children}</div>
    <div className={classes.summary}>{summary}</div>
  </div>
);

/** Fields of numbers and other short values beside one another. */
export const ShortFields = ({ children }: { children: ReactNode }) => <div className={classes['short-fields']}>{children}</div>;

/** Something that most people don't need, behind its title. */
export const Disclosure = ({ title, isOpen = false, children }: { title: string; isOpen?: boolean; children: ReactNode }) => (
  <details className={classes.disclosure} open={isOpen}>
    <summary>{title}</summary>
    {children}
  </details>
);

/** A remark that matters less than what is above it. */
export const Note = ({ children }: { children: ReactNode }) => <p className={classes.note}>{children}</p>;

/** Several tiles. */
export const Tiles = ({ children }: { children: ReactNode }) => <div className={classes.tiles}>{children}</div>;

/** A number that matters, with what it is and what explains it. */
export const Tile = ({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) => (
  <div className={classes.tile}>
    <div className={classes['tile-label']}>{label}</div>
    <div className={classes['tile-value']}>{value}</div>
    {note && <div className={classes['tile-note']}>{note}</div>}
  </div>
);

/** Names and values of a thing. Facts whose value is undefined are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className={classes.facts}>
    {facts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

/** Names and short values beside one another. Facts whose value is undefined are left out. */
export const ShortFacts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className={classes['short-facts']}>
    {facts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

/** Something to work on, with what is known of it beside it, or below it on a narrow screen. */
export const WithAside = ({ aside, children }: { aside: ReactNode; children: ReactNode }) => (
  <div className={classes['with-aside']}>
    <div className={classes.aside}>{children}</div>
    <div className={classes.aside}>{aside}</div>
  </div>
);

interface PanelProps {
  /** Says who or what it is for, so that nobody misses it. */
  label?: string | undefined;
  /** `warn`: something is different here than usual. */
  tone?: 'warn' | undefined;
  children: ReactNode;
}

/** A surface of its own. */
export const Panel = ({ label, tone, children }: PanelProps) => (
  <div className={classes.panel} data-tone={tone}>
    {label && (
      <p className={classes['panel-label']} role="status">
        {label}
      </p>
    )}
    {children}
  </div>
);
