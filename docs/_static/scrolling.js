// What is wider than its place scrolls; its right edge fades while there is more.
document.addEventListener("DOMContentLoaded", () => {
  const wide = "pre, .pst-scrollable-table-container, .output_html, .scrolls, .formula";
  for (const box of document.querySelectorAll(`.bd-article :is(${wide})`)) {
    const mark = () => {
      const rest = box.scrollWidth - box.clientWidth - Math.abs(box.scrollLeft);
      box.classList.toggle("has-more", rest > 4);
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; // for the keyboard
    };
    box.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(box);
  }
  // Names that the theme leaves out: of arrows in the menu, of the button with its keys.
  for (const arrow of document.querySelectorAll("li > details > summary"))
    arrow.ariaLabel = `Pages below ${arrow.closest("li").querySelector("a").innerText}`;
  for (const button of document.querySelectorAll(".search-button-field")) button.ariaLabel = null;
});
