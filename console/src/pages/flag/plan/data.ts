import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError, api, apiQuery, invalidate, useChange } from '../../../api'
import { environmentPath, placeIn, touched, type Flag, type FlagEnvironment } from '../data'
import type { Plan } from './model'

/** The path of the release plans of a flag in an environment. */
export const plansPath = `${environmentPath}/release-plans` as const

/** The release plans of a flag in an environment. */
export const plansQuery = (flag: Flag, environment: FlagEnvironment) => ({
  ...apiQuery(plansPath, { path: placeIn(flag, environment.name) }),
  enabled: environment.planState !== undefined,
})

/** The release plan of a flag in an environment. While it goes on by itself it is read again. */
export function usePlan(flag: Flag, environment: FlagEnvironment): Plan | undefined {
  const client = useQueryClient()
  const plan = useQuery({
    ...plansQuery(flag, environment),
    refetchInterval: ({ state }) => (state.data?.[0]?.nextAt ? 20_000 : false),
  }).data?.[0]
  // The strategies of the next milestone are those of the flag.
  const stale =
    plan !== undefined && plan.activeMilestoneId !== null && environment.milestoneOrder !== plan.milestones.findIndex(({ id }) => id === plan.activeMilestoneId)
  useEffect(() => {
    if (stale) void invalidate(client, touched)
  }, [client, stale, plan?.run])
  return environment.planState === undefined ? undefined : plan
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
      success: (_, { name }) => `${where}: ${name} started`,
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

/** Whether a start was refused because a signal fires, which a reason overrides. */
export const isFiring = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 409 && /\bforce\b/.test(error.message)
