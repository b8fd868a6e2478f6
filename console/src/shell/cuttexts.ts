const ours = new WeakSet<Element>()

/** Gives a text that the layout cuts a tooltip with all of it, when the pointer comes to it. */
export function showCutTexts() {
  document.addEventListener('pointerover', ({ target }) => {
    let element = target instanceof Element ? target.closest<HTMLElement>(':not(svg, svg *)') : null
    // The element that cuts the text can be around the one below the pointer.
    for (let steps = 0; element && steps < 3; element = element.parentElement, steps++) {
      const { textOverflow, webkitLineClamp } = getComputedStyle(element)
      if (textOverflow !== 'ellipsis' && webkitLineClamp === 'none') continue
      if (element.title && !ours.has(element)) return
      ours.add(element)
      element.title = element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight ? element.textContent : ''
      return
    }
  })
}
