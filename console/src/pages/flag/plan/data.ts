import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, apiQuery, invalidate, useChange, useMe } from '../../../api'
import { environmentPath, placeIn, touched, type Flag, type FlagEnvironment } from '../data'
import type { Plan } from './model'
import type { Safeguard } from './words'

/** The path of the release plans of a flag in an environment. */
export const plansPath = `${environmentPath}/release-plans` as const

/** The release plans of a flag in an environment. */
export const plansQuery = (flag: Flag, environment: FlagEnvironment) => ({
  ...apiQuery(plansPath, { path: placeIn(flag, environment.name) }),
  enabled: environment.planState !== undefined,
})

/** The release plan of a flag in an environment. Like the flag, it is read again every ten seconds while the page is visible. */
export function usePlan(flag: Flag, environment: FlagEnvironment): Plan | undefined {
  const client = useQueryClient()
  const plan = useQuery(plansQuery(flag, environment)).data?.[0]
  // The strategies of the next milestone are those of the flag.
  const stale =
    plan !== undefined && plan.activeMilestoneId !== null && environment.milestoneOrder !== plan.milestones.findIndex(({ id }) => id === plan.activeMilestoneId)
  useEffect(() => {
    if (stale) void invalidate(client, touched)
  }, [client, stale, plan?.run])
  return environment.planState === undefined ? undefined : plan
}

/** The named signals of a project in an environment; none for people who may not read them. */
export function useSignals(projectId: string, environment: string, enabled = true) {
  const { can } = useMe()
  return (
    useQuery({
      ...apiQuery('/api/admin/projects/{projectId}/environments/{environment}/signals', { path: { projectId, environment } }),
      enabled: enabled && can('READ_PROJECT_API_TOKEN', projectId, environment).allowed,
      retry: false,
    }).data ?? []
  )
}

/** The safeguards of a plan whose named signal is firing. */
export function useFiring(flag: Flag, environment: FlagEnvironment, plan: Plan | undefined): readonly Safeguard[] {
  const named = (plan?.safeguards ?? []).filter(({ signal }) => signal.name)
  const signals = useSignals(flag.project, environment.name, named.length > 0)
  return named.filter(({ signal }) => signals.some(({ name, status }) => name === signal.name && status === 'firing'))
}

interface Start {
  milestone: string
  name: string
  restart?: boolean
  /** Why it starts although a signal fires. */
  force?: string
}

/** What can be done with a plan. */
export function usePlanChanges(flag: Flag, environment: FlagEnvironment, plan: Plan) {
  const path = { ...placeIn(flag, environment.name), planId: plan.id }
  const ifMatch = `"${plan.run}"`
  const where = `${flag.name} in ${environment.name}`
  const shared = { invalidates: touched }
  const starting = ({ milestone, restart, force }: Start) =>
    api.request.post(`${plansPath}/{planId}/milestones/{milestoneId}/start`, {
      path: { ...path, milestoneId: milestone },
      ifMatch,
      ...(restart && { query: { restart: 'true' } }),
      ...(force && { body: { force } }),
    })
  const resuming = (force?: string) => api.request.post(`${environmentPath}/progressions/{planId}/resume`, { path, ifMatch, ...(force && { body: { force } }) })
  const removing = api.request.delete(`${plansPath}/{planId}`, { path })
  return {
    start: useChange({
      ...shared,
      change: (start: Start) => api.send(starting(start)),
      requests: (start: Start) => [starting(start)],
      success: (_, { name }) => `${where}: ${name} ${environment.enabled ? 'started' : 'starts when the flag is switched on'}`,
      showsErrors: true,
    }),
    resume: useChange({
      ...shared,
      change: (force: string | undefined) => api.send(resuming(force)),
      requests: (force: string | undefined) => [resuming(force)],
      success: `${where}: the release plan goes on`,
      showsErrors: true,
    }),
    pause: useChange({ ...shared, change: () => api.post(`${plansPath}/{planId}/pause`, { path }), success: `${where}: the release plan is paused` }),
    remove: useChange({
      ...shared,
      change: () => api.send(removing),
      requests: () => [removing],
      showsErrors: true,
      success: ({ switchedOff }) => `${where}: the release plan is deleted${switchedOff ? ', and the flag switched off' : ''}`,
    }),
  }
}
