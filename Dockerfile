# The page in a container: `docker build -t specdemo .`, `docker run --rm --init -p 7860:7860 -v specdemo:/cache specdemo`.
# --build-arg COMPUTE=cuda: for NVIDIA GPUs (run with --gpus all). --build-arg MODEL=baked: the default model within.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS base
# bitsandbytes looks for the system's OpenMP; torch brings its own.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libgomp1=12.* \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 user \
 && install -d -o 1000 -g 1000 /cache
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SPECDEMO_CACHE=/cache \
    HF_HOME=/cache/huggingface
WORKDIR /app

FROM base AS packages
ARG COMPUTE=cpu
ARG TORCH=2.13.0
ARG CPU_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt ./
# A mirror of PyPI: --build-arg PIP_INDEX_URL=…
ARG PIP_INDEX_URL
RUN python -m venv /opt/venv \
 && if [ "$COMPUTE" = cpu ]; then \
      pip install --no-cache-dir --no-deps --extra-index-url "$CPU_INDEX" "torch==$TORCH"; \
    fi \
 && pip install --no-cache-dir "torch==$TORCH" -r requirements.txt

FROM packages AS model
ARG MODEL=fetched
COPY specdemo specdemo
COPY assets assets
USER 1000
# Fetched at the first start into the volume, or here and now.
RUN if [ "$MODEL" = baked ]; then python -m specdemo fetch; fi

FROM base
COPY --from=packages /opt/venv /opt/venv
COPY --from=model --chown=1000:1000 /cache /cache
COPY app.py README.md requirements.txt LICENSE NOTICE ./
COPY specdemo specdemo
COPY assets assets
# docker stop kills after 10 s: before that runs end, then connections, then Python. The page asks itself over HTTP
# whether it is there, which no proxy must see.
ENV SPECDEMO_HOST=0.0.0.0 \
    SPECDEMO_PORT=7860 \
    SPECDEMO_STOP_SECONDS=4 \
    SPECDEMO_LOG=json \
    GRADIO_TEMP_DIR=/tmp/gradio \
    NO_PROXY=127.0.0.1,localhost \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000
EXPOSE 7860
VOLUME /cache
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=180s --retries=3 CMD ["python", "-I", "-S", "-c", "import http.client, os, sys; asked = http.client.HTTPConnection('127.0.0.1', int(os.environ['SPECDEMO_PORT']), timeout=5); asked.request('GET', '/healthz'); sys.exit(asked.getresponse().status != 200)"]
ENTRYPOINT ["python", "app.py"]
