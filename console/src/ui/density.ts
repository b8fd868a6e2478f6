// How high the rows of tables are, kept in this browser: 36 px, or 44 px for fingers and those who like it comfortable. theme-boot.js applies it at the next start.
import { useSyncExternalStore } from 'react'
import { readStored, subscribeStored, writeStored } from './stored'

const key = 'guidon-rows'

const isTouch = () => typeof matchMedia === 'function' && matchMedia('(pointer: coarse)').matches

const isComfortable = () => readStored(key) === 'comfortable' || isTouch()

/** Whether rows are 44 px high, and how high they are. */
export function useDensity() {
  const comfortable = useSyncExternalStore(subscribeStored, isComfortable)
  return { comfortable, rowHeight: comfortable ? 44 : 36 }
}

/** Makes rows 44 px high, or 36. */
export function setComfortable(comfortable: boolean) {
  document.documentElement.dataset.rows = comfortable ? 'comfortable' : ''
  writeStored(key, comfortable ? 'comfortable' : '')
}
