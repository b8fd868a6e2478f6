// The route tree. Each page is loaded when it is opened. A page file has its component as default export.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  redirect,
  stringifySearchWith,
  type AnyRoute,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import ProjectsPage from './pages/projects/list'
import { NotFoundPage, PageError, PagePending } from './shell/fallback'
import { Shell } from './shell/shell'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** First part of the title of the document. */
    title?: string
  }
}

type Load = () => Promise<{ default: ComponentType }>

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage })

function page<Parent extends AnyRoute, Path extends string>(parent: Parent, path: Path, title: string, load: Load) {
  return createRoute({ getParentRoute: () => parent, path, staticData: { title }, component: lazyRouteComponent(load) })
}

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/projects', replace: true })
  },
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  staticData: { title: 'Sign in' },
  validateSearch: (search: Record<string, unknown>): { next?: string; error?: string } => ({
    next: typeof search.next === 'string' ? search.next : undefined,
    error: typeof search.error === 'string' ? search.error : undefined,
  }),
  component: lazyRouteComponent(() => import('./pages/signin/signin')),
})

// The first page of most visits is part of the first file.
const projects = createRoute({ getParentRoute: () => root, path: '/projects', staticData: { title: 'Projects' }, component: ProjectsPage })

const projectRoute = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId',
  component: lazyRouteComponent(() => import('./pages/projects/layout')),
})

const flagRoute = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId/flags/$flag',
  component: lazyRouteComponent(() => import('./pages/flag/layout')),
})

// The address that a flag has in Unleash, for links that people have.
const unleashFlag = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId/features/$flag',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/projects/$projectId/flags/$flag', params, replace: true })
  },
})

// The search of Unleash, and of Guidon before.
const search = createRoute({
  getParentRoute: () => root,
  path: '/search',
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/flags', search, replace: true })
  },
})

const tree = root.addChildren([
  home,
  search,
  unleashFlag,
  signIn,
  projects,
  projectRoute.addChildren([
    page(projectRoute, '/', 'Flags', () => import('./pages/flags/list')),
    page(projectRoute, '/health', 'Health', () => import('./pages/projects/health')),
    page(projectRoute, '/applications', 'Applications', () => import('./pages/projects/applications')),
    page(projectRoute, '/settings', 'Settings', () => import('./pages/projects/settings')),
    page(projectRoute, '/access', 'Access', () => import('./pages/projects/access')),
    page(projectRoute, '/environments', 'Environments', () => import('./pages/projects/environments')),
    page(projectRoute, '/tokens', 'Tokens', () => import('./pages/projects/tokens')),
    page(projectRoute, '/signals', 'Signals', () => import('./pages/settings/signals')),
    page(projectRoute, '/change-requests', 'Change requests', () => import('./pages/requests/list')),
    page(projectRoute, '/log', 'Log', () => import('./pages/projects/log')),
    page(projectRoute, '/archive', 'Archive', () => import('./pages/projects/archive')),
  ]),
  page(root, '/projects/$projectId/change-requests/$requestId', 'Change request', () => import('./pages/requests/request')),
  flagRoute.addChildren([
    page(flagRoute, '/', 'Overview', () => import('./pages/flag/overview')),
    page(flagRoute, '/variants', 'Variants', () => import('./pages/flag/variants')),
    page(flagRoute, '/usage', 'Usage', () => import('./pages/insight/usage')),
    page(flagRoute, '/history', 'History', () => import('./pages/insight/history')),
    page(flagRoute, '/settings', 'Settings', () => import('./pages/flag/settings')),
  ]),
  page(root, '/change-requests', 'Change requests', () => import('./pages/requests/inbox')),
  page(root, '/flags', 'Flags', () => import('./pages/flags/all')),
  page(root, '/playground', 'Playground', () => import('./pages/insight/playground')),
  page(root, '/audit', 'Audit log', () => import('./pages/insight/audit')),
  page(root, '/applications', 'Applications', () => import('./pages/insight/applications')),
  page(root, '/applications/$app', 'Application', () => import('./pages/insight/application')),
  page(root, '/connect', 'Connect', () => import('./pages/insight/connect')),
  page(root, '/users', 'Users', () => import('./pages/people/users')),
  page(root, '/roles', 'Roles', () => import('./pages/people/roles')),
  page(root, '/roles/$id', 'Role', () => import('./pages/people/role')),
  page(root, '/service-accounts', 'Service accounts', () => import('./pages/people/serviceaccounts')),
  page(root, '/profile', 'Profile', () => import('./pages/people/profile')),
  page(root, '/tokens', 'API tokens', () => import('./pages/people/tokens')),
  page(root, '/segments', 'Segments', () => import('./pages/settings/segments')),
  page(root, '/segments/$id', 'Segment', () => import('./pages/settings/segment')),
  page(root, '/context', 'Context fields', () => import('./pages/settings/context')),
  page(root, '/environments', 'Environments', () => import('./pages/settings/environments')),
  page(root, '/tag-types', 'Tag types', () => import('./pages/settings/tagtypes')),
  page(root, '/strategies', 'Strategies', () => import('./pages/settings/strategies')),
  page(root, '/release-templates', 'Release templates', () => import('./pages/settings/templates')),
  page(root, '/import', 'Import and export', () => import('./pages/flags/import')),
  page(root, '/webhooks', 'Webhooks', () => import('./pages/settings/webhooks')),
  page(root, '/webhooks/$id', 'Webhook', () => import('./pages/settings/webhook')),
  // With npm run dev only: the build leaves it out.
  ...(import.meta.env.DEV ? [page(root, '/dev/components', 'Components', () => import('./pages/dev/components'))] : []),
])

/** Creates the router. */
export function newRouter() {
  return createRouter({
    routeTree: tree,
    // As plain text, ?hours=1: useUrlState knows the types.
    parseSearch: parseSearchWith(String),
    stringifySearch: stringifySearchWith(String),
    defaultPreload: 'intent',
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: PagePending,
    defaultPendingMs: 200,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof newRouter>
  }
}
