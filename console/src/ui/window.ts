import { useEffect, useLayoutEffect, useState, useSyncExternalStore, type RefObject } from 'react'

/** Whether the content of an element is larger than it, so that it needs the focus to be scrolled by keys. */
export function useOverflow(box: RefObject<HTMLElement | null>): boolean {
  const [overflows, setOverflows] = useState(false)
  useEffect(() => {
    const element = box.current
    if (!element || typeof ResizeObserver === 'undefined') return
    const check = () => setOverflows(element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1)
    const observer = new ResizeObserver(check)
    observer.observe(element)
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  })
  return overflows
}

const extra = 12

/** The rows of a long list that are in view, for rows of one height, and the heights of what is left out before and after. */
export function useWindow(box: RefObject<HTMLElement | null>, count: number, height: number, enabled: boolean) {
  const [view, setView] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = box.current
    if (!element || !enabled) return
    const read = () => setView({ top: element.scrollTop, height: element.clientHeight || 800 })
    read()
    element.addEventListener('scroll', read, { passive: true })
    window.addEventListener('resize', read)
    return () => {
      element.removeEventListener('scroll', read)
      window.removeEventListener('resize', read)
    }
    // count: an empty table has no box, so look again when rows arrive.
  }, [box, enabled, count])
  if (!enabled) return { first: 0, last: count, before: 0, after: 0 }
  // A filter can shorten the list while it is scrolled.
  const first = Math.max(0, Math.min(Math.floor(view.top / height) - extra, count - extra))
  const last = Math.min(count, Math.ceil((view.top + view.height) / height) + extra)
  return { first, last: Math.max(first, last), before: first * height, after: Math.max(0, count - last) * height }
}

const followWindow = (changed: () => void) => {
  addEventListener('resize', changed)
  return () => removeEventListener('resize', changed)
}

/** Whether the window is that of a phone. */
export const useNarrow = () => useSyncExternalStore(followWindow, () => innerWidth < 600)
