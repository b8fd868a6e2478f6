import { api, type Schema } from '../../api'
import { at, requestPath, type ChangeRequest } from '../../requests/data'
import { saveFile } from '../../ui/savefile'

/** How many pages of events are read; a page has up to 100. */
const maxPages = 50

/**
 * Saves all that is known of a change request as one file, with its whole history, oldest first. It returns false if events are missing
 * because there are too many: `next` in the file leads to them.
 */
export async function saveEvidence(request: ChangeRequest): Promise<boolean> {
  const read = (cursor?: string) => api.get(`${requestPath}/evidence`, { path: at(request), query: { cursor } })
  const newest = await read()
  const pages: Schema<'Evidence'>[] = [newest]
  while (pages[0]!.next && pages.length < maxPages) pages.unshift(await read(pages[0]!.next))
  const { next } = pages[0]!
  saveFile(`change-request-${request.id}.json`, { ...newest, events: pages.flatMap((page) => page.events), next })
  return !next
}
