import { useEffect, useState } from 'react'

/** The value after it has not changed for a moment, so that typing does not send a request for each letter. */
export function useSettled<Value>(value: Value, milliseconds = 250): Value {
  const [settled, setSettled] = useState(value)
  const key = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(key) as Value), milliseconds)
    return () => clearTimeout(timer)
  }, [key, milliseconds])
  return settled
}
