function (d) {
  // Selects and shows a frame that Python has drawn; computes nothing.
  document.querySelectorAll('.rk-explorer[data-key="' + d.key + '"]:not([data-ready])').forEach(function (root) {
    root.setAttribute("data-ready", "");
    var inputs = Array.from(root.querySelectorAll("input"));
    function show() {
      var index = 0;
      inputs.forEach(function (input, i) {
        var text = d.shown[i][+input.value];
        index = index * d.shown[i].length + +input.value;
        input.setAttribute("aria-valuetext", text);
        input.parentNode.querySelector("output").textContent = text;
      });
      var moving = d.frames[index].slice();
      var row = d.fixed.length ? d.fixed.map(function (n) { return n < 0 ? moving.shift() : n; }) : moving;
      var strings = row.map(function (n) { return d.strings[n]; });
      var alt = strings.pop(), call = strings.pop(), readout = strings.pop();
      root.querySelector(".rk-moves").innerHTML = strings.join("");
      root.querySelector(".rk-picture").setAttribute("aria-label", alt);
      root.querySelector(".rk-readout").textContent = readout;
      root.querySelector(".rk-call code").textContent = call;
    }
    inputs.forEach(function (input) {
      input.addEventListener("input", show);
      input.disabled = false;
    });
  });
}
