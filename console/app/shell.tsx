import { useEffect, useRef, useState } from 'react';
import { Link, matchRoute, type Parser, Route, Switch, useLocation, useRouter } from 'wouter';
import { isOfPlatform, type Me, useMe } from '../client/me.ts';
import { OpenScreens } from '../client/open-screens.ts';
import { logOut } from '../client/session.ts';
import { Button } from '../design/controls/button.tsx';
import { Empty } from '../design/feedback/failure.tsx';
import { Loaded } from '../design/feedback/loaded.tsx';
import { setCurrency } from '../design/format/currency.ts';
import { Entrance, Page } from '../design/layout/layout.tsx';
import classes from './app.module.css';
import { Boundary } from './boundary.tsx';
import { Palette } from './palette.tsx';
import { groupOf, SCREENS, type ScreenGroup } from './screens.ts';
import { ThemeChoice } from './theme.tsx';

const GROUPS: readonly ScreenGroup[] = ['Build', 'Observe', 'Finance', 'Organization', 'Platform', 'You'];

const isCurrent = (path: string, location: string): boolean => (path === '/' ? location === '/' : `${location}/`.startsWith(`${path}/`));

const NavigationLink = ({ path, title }: { path: string; title: string }) => {
  const [location] = useLocation();
  const link = useRef<HTMLAnchorElement>(null);
  const isHere = isCurrent(path, location);
  // A long navigation hides its last links.
  useEffect(() => {
    if (isHere) link.current?.scrollIntoView({ block: 'nearest' });
  }, [isHere]);
  return (
    <Link ref={link} to={path} className={classes.link} aria-current={isHere ? 'page' : undefined}>
      {title}
    </Link>
  );
};

const roleOf = (me: Me): string =>
  `${me.role.replaceAll('_', ' ')}${isOfPlatform(me) ? '' : ` of ${me.organization_name ?? 'your organization'}`}`;

const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

const Side = ({ me, isOpen, onSearch }: { me: Me; isOpen: boolean; onSearch: () => void }) => (
  <aside className={classes.side} data-open={isOpen} aria-label="Navigation">
    <Link to="/" className={classes.brand}>
      Sluice
    </Link>
    <div className={classes.search}>
      <Button onClick={onSearch}>
        Go to <kbd>{SHORTCUT}</kbd>
      </Button>
    </div>
    <nav aria-label="Screens">
      <NavigationLink path="/" title="Home" />
      {GROUPS.map((group) => {
        const screens = SCREENS.filter((screen) => groupOf(screen, me) === group && (screen.isListedFor ?? screen.isFor)(me));
        if (screens.length === 0) return null;
        return (
          <div key={group}>
            <div className={classes['group-title']}>{group}</div>
            {screens.map(({ path, title }) => (
              <NavigationLink key={path} path={path} title={title} />
            ))}
          </div>
        );
      })}
    </nav>
    <div className={classes.who}>
      <span>{me.email}</span>
      <span>{roleOf(me)}</span>
      <ThemeChoice />
      <Button onClick={() => void logOut()}>Sign out</Button>
    </div>
  </aside>
);

const NotFound = () => (
  <Page title="Not found">
    <Empty title="This page doesn't exist">
      <p>
        The link may be incomplete or from another release. <Link to="/">Go to Home</Link>, or search for a screen with ⌘K or Ctrl-K.
      </p>
    </Empty>
  </Page>
);

const Forbidden = ({ title, me }: { title: string; me: Me }) => (
  <Page title={title}>
    <Empty title="Your role doesn't have access to this page">
      <p>
        As {roleOf(me)}, you can't open it. Ask {isOfPlatform(me) ? 'an admin' : 'an owner of your organization'} to change your role.
      </p>
    </Empty>
  </Page>
);

// As the router finds the screen of an address.
const isOpenTo =
  (me: Me, parser: Parser) =>
  (to: string): boolean => {
    const [address = ''] = to.split('?');
    return SCREENS.find(({ path }) => matchRoute(parser, path, address)[0])?.isFor(me) ?? false;
  };

const Screens = ({ me }: { me: Me }) => (
  <Switch>
    {SCREENS.map(({ path, title, isFor, component: Screen }) => (
      <Route key={path} path={path}>
        {isFor(me) ? <Screen /> : <Forbidden title={title} me={me} />}
      </Route>
    ))}
    <Route>
      <NotFound />
    </Route>
  </Switch>
);

/** The navigation with the screen that the address names. */
export const Shell = () => {
  const me = useMe();
  const [location] = useLocation();
  const { parser } = useRouter();
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const shown = useRef(location);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    // The navigation of a narrow page closes when another screen opens.
    setOpen(false);
    // A link of the screen before is gone, and screen readers would stay where nothing is.
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
  }, [location]);
  if (!me.data)
    return (
      <Entrance>
        <Loaded query={me}>{() => null}</Loaded>
        {me.error && <Button onClick={() => void logOut()}>Sign out</Button>}
      </Entrance>
    );
  // While a release is deployed, the API can still be the one before, which names no currency.
  if (me.data.currency) setCurrency(me.data.currency);
  return (
    <>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.top}>
        <Link to="/" className={classes.brand}>
          Sluice
        </Link>
        <div>
          <Button look="plain" onClick={() => setSearching(true)}>
            Go to
          </Button>
          <Button look="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Menu
          </Button>
        </div>
      </header>
      <div className={classes.shell}>
        <Side me={me.data} isOpen={isOpen} onSearch={() => setSearching(true)} />
        <main id="main" className={classes.main} tabIndex={-1}>
          <Boundary key={location}>
            <OpenScreens value={isOpenTo(me.data, parser)}>
              <Screens me={me.data} />
            </OpenScreens>
          </Boundary>
        </main>
      </div>
      <Palette me={me.data} isOpen={isSearching} onOpen={setSearching} />
    </>
  );
};
