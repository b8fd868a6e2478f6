import { api, type Schema } from '../../../api'
import { environmentPath, placeIn, type Flag } from '../data'
import { changedSince } from '../strategy/changes'
import { draftOf, requestOf, type Variant } from './model'

/** Takes back a change of the variants of an environment, unless they were changed since. */
export async function undoVariants(flag: Flag, environment: string, made: Schema<'VariantList'>, before: readonly Variant[]) {
  const path = placeIn(flag, environment)
  const { body, etag } = await api.getVersioned(`${environmentPath}/variants`, { path })
  if (JSON.stringify(body.variants) !== JSON.stringify(made.variants)) throw changedSince('variants')
  await api.put(`${environmentPath}/variants`, { path, body: before.map((one) => requestOf(draftOf(one))), ifMatch: etag })
}
