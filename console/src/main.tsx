// The styles of elements come first, so that those of components override them.
import './ui/tokens.css'
import './ui/base.css'
import { Tooltip } from '@base-ui/react/tooltip'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { setUnauthenticated } from './api/client'
import { apiKey, newQueryClient, setDrafts } from './api/query'
import { hasInput } from './forms/unsaved'
import { newRouter } from './routes'
import { showCutTexts } from './shell/cuttexts'
import { toast } from './ui/toasts'

const queryClient = newQueryClient()
const router = newRouter()

// Several requests may be refused at the same time. A second navigation would start the first one again, and forget why it began.
let leaving: Promise<void> | undefined

setDrafts(() => import('./requests/drafts'))
setUnauthenticated(() => {
  const { pathname, href } = router.state.location
  if (leaving || pathname === '/sign-in') return
  if (hasInput()) {
    toast.error('Your session has ended. Sign in again in another tab, then save here: your input is kept.', {
      action: { label: 'Sign in', run: () => window.open('/sign-in') },
    })
    return
  }
  const wasSignedIn = queryClient.getQueryData(apiKey('/api/admin/user')) !== undefined
  queryClient.clear()
  leaving = router
    .navigate({ to: '/sign-in', search: { next: href, error: wasSignedIn ? 'ended' : undefined }, replace: true })
    .finally(() => (leaving = undefined))
})

showCutTexts()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider>
          <RouterProvider router={router} />
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
